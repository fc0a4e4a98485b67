/** Join tokens for the nodes that a deployment names beforehand: one for each, good once. */
import { asId, type ClusterId, type JoinTokenId } from '@holdfast/core/model/ids.js';
import { systemRandom } from '../clock-and-random.js';
import { type Scope, transaction } from '../sql/scope.js';
import { insertJoinToken } from './join-tokens.js';

/** As long as a one-time link: a token is for the start that it is made in. */
const LIFE_MS = 3_600_000;

/** Name of such a token, by which the next run finds and replaces it. */
const nameOf = (nodeName: string) => `first start of ${nodeName}`;

/**
 * Makes a token for each node of the cluster that has no identity yet, replacing the one that an earlier run made. A node that has
 * joined keeps its certificate and gets none: only a user gives its name away.
 *
 * @returns secret by node name, for the nodes that got a token
 */
export function makeFirstJoinTokens(
  system: Scope,
  clusterId: ClusterId,
  nodeNames: readonly string[],
  now: Date,
): Promise<Map<string, string>> {
  return transaction(system, async (sql) => {
    const { rows } = await sql.query<{ name: string }>(
      `SELECT wanted.name FROM unnest($2::text[]) AS wanted (name) WHERE NOT EXISTS (
         SELECT FROM node_identity i WHERE i.cluster_id = $1 AND i.name = wanted.name)`,
      [clusterId, nodeNames],
    );
    await sql.query('DELETE FROM join_token WHERE cluster_id = $1 AND name = ANY($2)', [
      clusterId,
      nodeNames.map(nameOf),
    ]);
    const secrets = new Map<string, string>();
    for (const { name: nodeName } of rows) {
      const secret = `hfj_${systemRandom.secret()}`;
      await insertJoinToken(sql, {
        id: asId<JoinTokenId>(systemRandom.id()),
        clusterId,
        name: nameOf(nodeName),
        nodeName,
        uses: 0,
        usesMax: 1,
        expiresAt: new Date(now.getTime() + LIFE_MS),
        createdAt: now,
        madeBy: undefined,
        secret,
      });
      secrets.set(nodeName, secret);
    }
    return secrets;
  });
}
