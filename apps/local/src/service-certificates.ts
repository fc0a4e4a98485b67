/**
 * Certificates of the services beside the control plane, for deployments: one authority, whose key is discarded, and a certificate
 * for each service.
 *
 * Crash behaviour: the authority's certificate is written last, and the next run replaces certificates that do not fit it.
 */
import { X509Certificate } from 'node:crypto';
import fs from 'node:fs/promises';
import path from 'node:path';
import { makeAuthority, makeServerCertificate } from '@holdfast/identity/authority.js';

const DAY_MS = 24 * 3_600_000;
const LIFE_DAYS = 2 * 365;
/** Replaced when no more than this is left: a deployment is started more often than that. */
const LEFT_DAYS_MIN = 60;

export type ServiceFolders = {
  /** Folder for the authority's certificate, which every client reads. */
  authority: string;
  /** For each service its host name, its folder, and who owns the key: Postgres takes one of its own user only. */
  services: readonly { host: string; folder: string; ownerId?: number | undefined }[];
};

const AUTHORITY_FILE = 'ca.pem';
const CERTIFICATE_FILE = 'server-cert.pem';
const KEY_FILE = 'server-key.pem';

/** @returns whether they were made now: servers that run have to be started again then */
export async function ensureServiceCertificates(folders: ServiceFolders, now: Date): Promise<boolean> {
  if (await areGood(folders, now)) return false;
  const authority = await makeAuthority(now);
  const notAfter = new Date(now.getTime() + LIFE_DAYS * DAY_MS);
  for (const { host, folder, ownerId } of folders.services) {
    const made = await makeServerCertificate(authority, [host], { now, notAfter });
    await write(path.join(folder, KEY_FILE), made.keyPem, 0o600, ownerId);
    await write(path.join(folder, CERTIFICATE_FILE), made.certificatePem, 0o644, ownerId);
  }
  await write(path.join(folders.authority, AUTHORITY_FILE), authority.certificatePem, 0o644);
  return true;
}

async function areGood({ authority, services }: ServiceFolders, now: Date): Promise<boolean> {
  try {
    const issuer = await certificateIn(path.join(authority, AUTHORITY_FILE));
    const endsBy = now.getTime() + LEFT_DAYS_MIN * DAY_MS;
    for (const { host, folder } of services) {
      const found = await certificateIn(path.join(folder, CERTIFICATE_FILE));
      const isSound = found.verify(issuer.publicKey) && found.checkHost(host) !== undefined;
      if (!isSound || new Date(found.validTo).getTime() < endsBy) return false;
      await fs.access(path.join(folder, KEY_FILE));
    }
    return true;
  } catch {
    return false;
  }
}

async function certificateIn(file: string): Promise<X509Certificate> {
  return new X509Certificate(await fs.readFile(file));
}

async function write(file: string, text: string, mode: number, ownerId?: number): Promise<void> {
  const partial = `${file}.partial`;
  await fs.rm(partial, { force: true });
  await fs.writeFile(partial, text, { mode });
  if (ownerId !== undefined) await fs.chown(partial, ownerId, ownerId);
  await fs.rename(partial, file);
}
