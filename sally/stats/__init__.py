"""Statistics: pure functions of numbers and labels, with intervals as `[low, high]`.

The modules here `import scipy` and never `from scipy import stats`: scipy loads each part when it
is first used, and loading all parts takes longer than most commands take.
"""
