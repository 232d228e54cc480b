"""The layers import in one direction only, and the front door only re-exports."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("symbolic", "numeric", "proofs", "mhflow")
OUTSIDE = ("tests", "benchmarks", "examples")
IMPORT_FUNCTIONS = ("import_module", "__import__", "find_spec")


def imported(tree: ast.AST, module: str) -> Iterator[tuple[int, str]]:
    """Yield line and top-level name of every import, wherever it stands and however it is made."""
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                for alias in names:
                    yield node.lineno, alias.name.partition(".")[0]
            case ast.ImportFrom(module=source, level=0):
                yield node.lineno, (source or "").partition(".")[0]
            case ast.ImportFrom(module=source, level=level, names=names):
                # `module` ends in the file's own name, so one level up is its package.
                parent = module.split(".")[:-level]
                if parent:
                    yield node.lineno, parent[0]
                else:
                    for name in [source] if source else [alias.name for alias in names]:
                        yield node.lineno, name.partition(".")[0]
            case ast.Call(
                func=ast.Name(id=name) | ast.Attribute(attr=name),
                args=[ast.Constant(value=str(target)), *_],
            ) if name in IMPORT_FUNCTIONS:
                yield node.lineno, target.partition(".")[0]


def violations(source: str, module: str) -> list[str]:
    """Say what a module does that its layer may not do."""
    tree = ast.parse(source)
    package = module.partition(".")[0]
    forbidden = {*PACKAGES[PACKAGES.index(package) + 1 :], *OUTSIDE}
    found = [
        f"{module}:{line} imports {name}"
        for line, name in imported(tree, module)
        if name in forbidden
    ]
    if package == "mhflow":
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                if node.name not in ("__getattr__", "__dir__") or node not in tree.body:
                    found.append(f"{module}:{node.lineno} defines {node.name}")
            elif isinstance(node, ast.Lambda):
                found.append(f"{module}:{node.lineno} defines a lambda")
    return found


@pytest.mark.parametrize("package", PACKAGES)
def test_layer(package: str) -> None:
    files = sorted((ROOT / package).rglob("*.py"))
    assert files
    found = []
    for file in files:
        module = ".".join(file.relative_to(ROOT).with_suffix("").parts)
        found += violations(file.read_text(encoding="utf-8"), module)
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("symbolic.a", "import numeric"),
        ("symbolic.a", "import sympy, proofs.cli as cli"),
        ("symbolic.a", "from mhflow import evaluate"),
        ("symbolic.a", "def f():\n    from numeric.balls import evaluate"),
        ("symbolic.a", "if TYPE_CHECKING:\n    import proofs"),
        ("symbolic.a", "try:\n    import numeric\nexcept ImportError:\n    pass"),
        ("symbolic.a", "importlib.import_module('numeric.balls')"),
        ("symbolic.a", "f = lambda: __import__('proofs')"),
        ("symbolic.a", "from .. import numeric"),
        ("symbolic.sub.a", "from ...numeric import balls"),
        ("symbolic.a", "from tests.support import require"),
        ("numeric.a", "import proofs.claims"),
        ("numeric.a", "async def f():\n    import mhflow"),
        ("proofs.a", "class A:\n    import mhflow"),
        ("proofs.a", "import benchmarks.run"),
        ("mhflow.__init__", "import tests"),
        ("mhflow.__init__", "def evaluate(): ..."),
        ("mhflow.__init__", "async def evaluate(): ..."),
        ("mhflow.__init__", "class Formula: ..."),
        ("mhflow.__init__", "evaluate = lambda: 0"),
        ("mhflow.__init__", "def __getattr__(name):\n    def inner(): ..."),
        ("mhflow.__init__", "if True:\n    def __getattr__(name): ..."),
    ],
)
def test_a_violation_is_found(module: str, source: str) -> None:
    assert len(violations(source, module)) == 1


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("symbolic.a", "import sympy\nfrom symbolic.b import c\nimport numerics"),
        ("symbolic.a", "from . import numeric"),
        ("symbolic.a", "from .proofs import numeric"),
        ("symbolic.sub.a", "from .. import proofs"),
        ("symbolic.a", "name = 'numeric'\nopen('proofs')"),
        ("numeric.a", "from symbolic import b"),
        ("proofs.a", "import symbolic, numeric.balls\nfrom proofs import cli"),
        (
            "mhflow.__init__",
            "import importlib\nfrom symbolic.errors import InputError\n"
            "def __getattr__(name):\n    return importlib.import_module('proofs.api')\n"
            "def __dir__(): ...",
        ),
    ],
)
def test_what_is_allowed_passes(module: str, source: str) -> None:
    assert violations(source, module) == []
