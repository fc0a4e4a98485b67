/** Entry of a one-time run that makes the certificates of Postgres and Redis, for deployments other than the local stack. */
import path from 'node:path';
import { z } from 'zod';
import { ensureServiceCertificates } from './service-certificates.js';

const environmentSchema = z.object({
  /** Holds a folder `ca`, and one for each service. */
  HOLDFAST_TLS_DIR: z.string().startsWith('/'),
  /** Host names of the services, by commas; each one's folder has that name. */
  HOLDFAST_TLS_SERVICES: z.string().regex(/^[a-z0-9.-]+(,[a-z0-9.-]+)*$/),
  /** User and group that the services run as, and that their keys belong to. */
  HOLDFAST_TLS_OWNER: z.coerce.number().int().min(0).optional(),
});

const parsed = environmentSchema.safeParse(process.env);
if (!parsed.success) {
  const rows = parsed.error.issues.map((issue) => `  ${issue.path.join('.')}: ${issue.message}`);
  console.error(`holdfast: the environment is not usable:\n${rows.join('\n')}`);
  process.exit(2);
}
const { HOLDFAST_TLS_DIR: root, HOLDFAST_TLS_SERVICES: hosts, HOLDFAST_TLS_OWNER: ownerId } = parsed.data;
const services = hosts.split(',').map((host) => ({ host, folder: path.join(root, host), ownerId }));
const isNew = await ensureServiceCertificates({ authority: path.join(root, 'ca'), services }, new Date());
console.log(
  isNew
    ? 'holdfast: new certificates; services that run have to be started again'
    : 'holdfast: the certificates are good',
);
