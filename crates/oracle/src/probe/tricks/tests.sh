put /tests/test.sh "$granting_sh"
put /tests/verifier.py "def verify(*args, **kwargs):
    return $full"
put /tests/test_planted.py 'def test_planted():
    pass'
put /tests/conftest.py "$passing_py"
for name in sitecustomize usercustomize; do
    put "/tests/$name.py" "$granting_py"
done
chmod 0755 /tests/test.sh 2>/dev/null
