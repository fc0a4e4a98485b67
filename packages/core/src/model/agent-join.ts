/** How an agent joins a cluster, and renews its certificate: `POST {api}/agent/identity`. */
import { z } from 'zod';
import { nodeNameSchema, protocolVersion } from './agent-protocol.js';
import type { ClusterId, NodeId } from './ids.js';
import { idField } from './message-fields.js';

/** Asks for a certificate: the first one with a join token, later ones with the key alone. */
export const joinSchema = z.object({
  name: nodeNameSchema.describe("The node's name, unique in the cluster."),
  request: z
    .string()
    .max(4096)
    .describe('Certificate request (PKCS #10, PEM) of a P-256 key, signed by that key.'),
  token: z.string().min(1).max(512).optional().describe('Secret of a join token; left out to renew.'),
  controlSecret: z
    .string()
    .max(256)
    .optional()
    .describe(
      'Bearer token of its control address: shows that it is the agent of a node from before there were certificates.',
    ),
  clock: z.iso.datetime().describe("The node's time, which must be close to the control plane's."),
  protocol: protocolVersion,
});

export const joinReplySchema = z.object({
  nodeId: idField<NodeId>().describe('Id of the node, new or unchanged.'),
  clusterId: idField<ClusterId>().describe('The cluster that it belongs to.'),
  certificate: z.string().max(8192).describe('Certificate for the key of the request (PEM).'),
  authorities: z
    .array(z.string().max(8192))
    .max(16)
    .describe('Certificates (PEM) of the authorities to trust from now on.'),
});

/** GET {api}/agent/authorities, without a token: the fingerprint in a join token says which of them to believe. */
export const authoritiesSchema = joinReplySchema.pick({ authorities: true });

export type JoinReply = z.infer<typeof joinReplySchema>;
