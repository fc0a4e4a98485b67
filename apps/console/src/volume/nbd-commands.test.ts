import { expect, test } from '@jest/globals';
import { nbdCommands } from './nbd-commands';

test('a plain address is used as it is', () => {
  expect(nbdCommands('nbd://10.0.0.1:7420/data.0199.secret')).toEqual({
    nbdcopy: "nbdcopy --flush disk.img 'nbd://10.0.0.1:7420/data.0199.secret'",
    qemu: "-drive file='nbd://10.0.0.1:7420/data.0199.secret',format=raw,if=virtio",
    needsCertificates: false,
  });
});

test('under TLS the commands name the certificates, and QEMU gets the address in parts', () => {
  expect(nbdCommands('nbds://10.0.0.1:7420/data.0199.secret')).toEqual({
    nbdcopy: "nbdcopy --flush disk.img 'nbds://10.0.0.1:7420/data.0199.secret?tls-certificates=/etc/pki/nbd'",
    qemu:
      '-object tls-creds-x509,id=tls,dir=/etc/pki/nbd,endpoint=client ' +
      '-drive driver=nbd,host=10.0.0.1,port=7420,export=data.0199.secret,tls-creds=tls,if=virtio',
    needsCertificates: true,
  });
});
