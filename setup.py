"""What `pyproject.toml` cannot say: which modules a wheel leaves out.

The teachers' half of `limetutor.classroom` works on the notebooks and chapters of a clone, which a wheel does not have.
"""

from setuptools import setup
from setuptools.command.build_py import build_py

STUDENTS = ("__init__", "questions")  # beside assignments/: what a notebook calls


class BuildWheel(build_py):
    """The modules of the package without those for teachers."""

    def find_package_modules(self, package: str, package_dir: str) -> list[tuple[str, str, str]]:
        """The modules of a package that a wheel has."""
        found = super().find_package_modules(package, package_dir)
        return [m for m in found if package != "limetutor.classroom" or m[1] in STUDENTS]


setup(cmdclass={"build_py": BuildWheel})
