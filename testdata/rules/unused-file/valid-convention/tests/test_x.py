from tests.helper import f
