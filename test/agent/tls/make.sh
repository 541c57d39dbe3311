#!/bin/sh
# Makes the certificates of the tests anew: an authority, a server and a client signed by it, and a stranger.
# They hold from 2020 to 2120, whatever the clock of the machine says; one more held in 2020 alone.
set -e
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat > "$work/config" <<END
[ca]
default_ca = test
[test]
new_certs_dir = $work
database = $work/index
serial = $work/serial
default_md = sha256
policy = any
default_startdate = 20200101000000Z
default_enddate = 21200101000000Z
[any]
commonName = supplied
[authority]
basicConstraints = critical, CA:true
subjectKeyIdentifier = hash
[leaf]
subjectAltName = DNS:localhost, IP:127.0.0.1
END
: > "$work/index"
echo 01 > "$work/serial"

# sign WHO EXTENSIONS SIGNER OPTIONS: makes WHO.pem and its key.
sign() {
  key="$1-key.pem"
  [ "$1" = ca ] && key="$work/ca-key.pem"
  openssl ecparam -name prime256v1 -genkey -noout -out "$key"
  openssl req -new -key "$key" -subj "/CN=$1" -out "$work/$1.csr"
  how="$4 -cert ca.pem -keyfile $work/ca-key.pem"
  [ "$1" = "$3" ] && how="$4 -selfsign -keyfile $key"
  openssl ca -batch -notext -config "$work/config" -extensions "$2" $how -in "$work/$1.csr" -out "$1.pem"
}
sign ca authority ca
sign server leaf ca
sign client leaf ca
sign stranger authority stranger
sign expired leaf expired '-enddate 20210101000000Z'
