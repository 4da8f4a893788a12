"""How an answer is judged: what a text means, what an exercise declares, which words come back.

``grammar`` reads an answer and ``tables`` compare it. An exercise is declared with ``givens`` and what
``exercise`` has for all kinds; ``values`` and ``functions`` hold the kinds, ``kinds`` lists them. What
the built page needs is plain data from ``grammar`` and ``tables``; book/_assets/answers.js has the same
two steps in JavaScript, and tests/site/test_answers.py types one table of answers into both.
"""
