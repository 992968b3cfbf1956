"""What test modules share: made data, second opinions, attackers, servers, pages and calls of the command line."""
