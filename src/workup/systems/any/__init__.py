"""Systems of any task: answers recorded before, programs, web services."""
