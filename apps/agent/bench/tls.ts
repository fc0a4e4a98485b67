// Benchmark of TLS: the same requests on three copies with TLS off, allowed (the client uses it, nodes among each other
// do not) and required (all do). The baseline of each row is the run without.
import { execFileSync } from 'node:child_process';
import crypto from 'node:crypto';
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type { BenchOptions } from '@holdfast/data-engine/bench/figure.js';
import { median } from '@holdfast/data-engine/bench/median.js';
import { type CertificateFiles, Certificates } from '@holdfast/data-engine/nbd/certificates.js';
import { requireTls } from '@holdfast/data-engine/nbd/client-tls.js';
import { BenchStack, KIB, MIB, timed } from './stack.js';

const SIZE_BYTES = 256 * MIB;
/** Rounds of all modes. Modes take turns and medians count, so that other load on the machine meets all of them. */
const ROUNDS = 3;
const CASES = [
  { name: 'write 1 MiB qd4', bytes: MIB, depth: 4, count: 600, kind: 'write' },
  { name: 'read 1 MiB qd4', bytes: MIB, depth: 4, count: 600, kind: 'read' },
  { name: 'randwrite 4 KiB qd32', bytes: 4 * KIB, depth: 32, count: 20_000, kind: 'write' },
  { name: 'randread 4 KiB qd32', bytes: 4 * KIB, depth: 32, count: 20_000, kind: 'read' },
  { name: 'randwrite 4 KiB qd1', bytes: 4 * KIB, depth: 1, count: 3000, kind: 'write' },
];

const MODES = ['off', 'allow', 'require'] as const;
type Mode = (typeof MODES)[number];

export async function run({ quick, report }: BenchOptions): Promise<void> {
  const folder = await fs.mkdtemp(path.join(os.tmpdir(), 'holdfast-tls-'));
  try {
    const files = await makeCertificates(folder);
    const scale = quick ? 0.3 : 1;
    const rounds: Record<Mode, number[][]> = { off: [], allow: [], require: [] };
    for (let round = 0; round < (quick ? 1 : ROUNDS); round += 1) {
      for (const mode of MODES) rounds[mode].push(await ratesOf(mode, files, scale));
    }
    const medians = (mode: Mode, index: number) =>
      median(rounds[mode].flatMap((rates) => rates[index] ?? []));
    for (const mode of ['allow', 'require'] as const) {
      for (const [index, { name, bytes }] of CASES.entries()) {
        const [value, baseline] = [medians(mode, index), medians('off', index)];
        const unit = bytes === MIB ? 'MiB/s' : 'IOPS';
        report({ bench: 'tls', case: `${mode}: ${name}`, metric: 'rate', value, unit, baseline });
      }
    }
  } finally {
    await fs.rm(folder, { recursive: true, force: true });
  }
}

/** Requests per second of each case. */
async function ratesOf(mode: Mode, files: CertificateFiles, scale: number): Promise<number[]> {
  const stack = await BenchStack.start(3, {
    HOLDFAST_NBD_TLS: mode,
    HOLDFAST_NBD_TLS_CERT: files.certFile,
    HOLDFAST_NBD_TLS_KEY: files.keyFile,
    HOLDFAST_NBD_TLS_CA: files.caFile,
  });
  requireTls(mode === 'off' ? undefined : new Certificates(files));
  try {
    const { client } = await stack.volume(SIZE_BYTES, 3);
    const data = crypto.randomBytes(MIB);
    await timed(SIZE_BYTES / MIB, 4, (i) => client.write(i * MIB, [data], MIB, { fua: false }));
    const rates = [];
    for (const { bytes, depth, count, kind } of CASES) {
      const piece = data.subarray(0, bytes);
      const at = () => crypto.randomInt(SIZE_BYTES / bytes) * bytes;
      const request =
        kind === 'write'
          ? () => client.write(at(), [piece], bytes, { fua: false })
          : async () => (await client.read(at(), bytes)).release?.();
      const times = Math.ceil(count * scale);
      rates.push(times / (await timed(times, depth, request)));
    }
    client.close();
    return rates;
  } finally {
    requireTls(undefined);
    await stack.stop();
  }
}

/** Makes an authority, and one certificate for both ends. */
async function makeCertificates(folder: string): Promise<CertificateFiles> {
  const openssl = (...args: string[]) => execFileSync('openssl', args, { cwd: folder, stdio: 'ignore' });
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '1'];
  openssl('req', '-x509', ...key, '-keyout', 'ca-key.pem', '-out', 'ca.pem', '-subj', '/CN=bench CA');
  openssl('req', ...key, '-keyout', 'key.pem', '-out', 'node.csr', '-subj', '/CN=node');
  const signed = [
    '-CA',
    'ca.pem',
    '-CAkey',
    'ca-key.pem',
    '-CAcreateserial',
    '-days',
    '1',
    '-out',
    'cert.pem',
  ];
  const extensions = 'subjectAltName=IP:127.0.0.1\nextendedKeyUsage=serverAuth,clientAuth\n';
  await fs.writeFile(path.join(folder, 'extensions'), extensions);
  openssl('x509', '-req', '-in', 'node.csr', ...signed, '-extfile', 'extensions');
  const at = (name: string) => path.join(folder, name);
  return { certFile: at('cert.pem'), keyFile: at('key.pem'), caFile: at('ca.pem') };
}
