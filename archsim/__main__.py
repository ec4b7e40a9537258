"""`python -m archsim`: the command line where its script is not on the path."""

from archsim.cli import main

if __name__ == "__main__":
    main()
