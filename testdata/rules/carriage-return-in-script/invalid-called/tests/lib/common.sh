set -u
"$(dirname "$0")"/lib/third.sh
