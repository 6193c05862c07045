import os
