import os
p=os.environ["OUT"]
