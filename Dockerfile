# The operator and the kubectl plugin, both static, and nothing else: no shell, no package manager, no libraries.
#
#   docker build --tag REGISTRY/quotient:0.1.0 .
#   docker buildx build --platform linux/amd64,linux/arm64 --tag REGISTRY/quotient:0.1.0 --push .
#
# For another architecture the programs are cross compiled, because emulating the compiler takes hours.
# `make size` builds the same programs with the same flags outside a container, and looks whether they load anything.

# The version of rust-toolchain.toml, on a Debian whose C library comes as an archive, too. For another version:
#   docker buildx imagetools inspect docker.io/library/rust:VERSION-bookworm
FROM --platform=$BUILDPLATFORM docker.io/library/rust:1.95.0-bookworm@sha256:6258907abe69656e41cd992e0b705cdcfabcbbe3db374f92ed2d47121282d4a1 AS build
ARG TARGETARCH
WORKDIR /source
COPY . .
# Linked statically: the C library has resolved names by itself since 2.34, so nothing of it is loaded at run time.
# A panic ends the process, so the programs hold no tables for unwinding.
ENV RUSTFLAGS="-C target-feature=+crt-static -C force-unwind-tables=no"
# A target is named so that build scripts and macros, which cannot be static and may unwind, are built without the flags.
RUN here="$(dpkg --print-architecture)" \
    && there="${TARGETARCH:-$here}" \
    && case "$there" in amd64) cpu=x86_64; gcc=x86-64 ;; arm64) cpu=aarch64; gcc=aarch64 ;; \
        *) echo "no image for $there" >&2; exit 1 ;; esac \
    && target="$cpu-unknown-linux-gnu" \
    && if [ "$there" != "$here" ]; then \
        apt-get update && apt-get install -y --no-install-recommends "gcc-$gcc-linux-gnu" "libc6-dev-$there-cross" \
        && rustup target add "$target" \
        && export "CARGO_TARGET_$(echo "$cpu" | tr a-z A-Z)_UNKNOWN_LINUX_GNU_LINKER=$cpu-linux-gnu-gcc"; \
    fi \
    && cargo build --release --locked --target "$target" -p quotient-operator -p quotient-cli \
    && mkdir /out \
    && cp "target/$target/release/quotient-operator" "target/$target/release/kubectl-quotient" /out/ \
    && ln -s kubectl-quotient /out/kubectl_complete-quotient

FROM scratch
LABEL org.opencontainers.image.title="quotient" \
      org.opencontainers.image.description="Fair sharing of a Kubernetes cluster through ResourceQuotas and evictions" \
      org.opencontainers.image.licenses="Apache-2.0"
# A folder is copied with its link, under which kubectl asks for completions.
COPY --from=build /out/ /
COPY LICENSE /LICENSE
# A number, so that a kubelet can tell that it is not root. No account has it on purpose.
USER 65532:65532
EXPOSE 8080 8443
ENTRYPOINT ["/quotient-operator"]
