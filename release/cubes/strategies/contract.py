"""What every strategy of a cube release offers."""

from release.contract.domain import CubeDomain
from release.contract.models import CubeModel
from release.contract.sealed_cube import SealedCube
from release.contract.strategies import Strategy

CubeStrategy = Strategy[CubeDomain, SealedCube, CubeModel]
