make -j"$(nproc)"
