"""The subgroups lens: who is served worse, and how sure is that?"""
