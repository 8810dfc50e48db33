# syntax=docker/dockerfile:1
# The operator and the kubectl plugin, both static, and nothing else: no shell, no package manager, no libraries.
#
#   docker build --tag REGISTRY/quotient:0.1.0 .
#
# `make size` builds the same programs with the same flags outside a container, and looks whether they load anything.

# The version of rust-toolchain.toml, on a Debian whose C library comes as an archive, too.
FROM docker.io/library/rust:1.95-bookworm AS build
WORKDIR /source
COPY . .
# Linked statically: the C library has resolved names by itself since 2.34, so nothing of it is loaded at run time.
ENV RUSTFLAGS="-C target-feature=+crt-static"
# A target is named so that build scripts and macros, which cannot be static, are built without the flag.
RUN target="$(rustc -vV | sed -n 's/^host: //p')" \
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
# A number, so that a kubelet can tell that it is not root; nobody's on purpose.
USER 65532:65532
EXPOSE 8080 8443
ENTRYPOINT ["/quotient-operator"]
