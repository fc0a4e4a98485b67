/** Folder of the client's certificate, its key and the CA's: a placeholder that the user replaces. */
const CERTIFICATES = '/etc/pki/nbd';

/** Commands that use a volume's NBD address. Under TLS clients have to show a certificate. */
export function nbdCommands(nbdUri: string): { nbdcopy: string; qemu: string; needsCertificates: boolean } {
  const { protocol, hostname, port, pathname } = new URL(nbdUri);
  if (protocol !== 'nbds:') {
    return {
      nbdcopy: `nbdcopy --flush disk.img '${nbdUri}'`,
      qemu: `-drive file='${nbdUri}',format=raw,if=virtio`,
      needsCertificates: false,
    };
  }
  const credentials = `-object tls-creds-x509,id=tls,dir=${CERTIFICATES},endpoint=client`;
  const drive = `driver=nbd,host=${hostname},port=${port},export=${pathname.slice(1)},tls-creds=tls`;
  return {
    nbdcopy: `nbdcopy --flush disk.img '${nbdUri}?tls-certificates=${CERTIFICATES}'`,
    qemu: `${credentials} -drive ${drive},if=virtio`,
    needsCertificates: true,
  };
}
