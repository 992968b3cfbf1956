"""The drift lens: is the system still what it was?"""
