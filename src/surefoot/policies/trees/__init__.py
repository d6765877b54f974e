"""Tree ensembles: one reader for each library that writes them, and a format of our own.

Every reader makes a :class:`surefoot.policies.models.Trees`, and the scores of that are those of
the library, bit for bit: the same comparisons in the same precision, the same order of additions.
What cannot be had like that is refused. No library is needed to read a file.
"""
