#!/bin/sh
# An exec credential plugin (client.authentication.k8s.io/v1): fetches this machine's identity document from the cloud's
# metadata server and changes it for a bootstrap token. The exchange answers with the ExecCredential, which is printed.
# Nothing is written to the disk, and the document is in no command line.
set -eu

: "${EXCHANGE_URL:?}" "${EXCHANGE_CA:?}" "${AUDIENCE:?}"
metadata=${METADATA_URL:-http://metadata.google.internal}

document=$(curl --silent --show-error --fail --noproxy '*' --max-time 10 --header 'Metadata-Flavor: Google' \
  "$metadata/computeMetadata/v1/instance/service-accounts/default/identity?audience=$AUDIENCE&format=full")

printf '%s' "$document" | curl --silent --show-error --fail --max-time 30 --cacert "$EXCHANGE_CA" \
  --header 'Content-Type: application/jwt' --data-binary @- "$EXCHANGE_URL?node=${ROLLCALL_NODE_NAME:-}"
