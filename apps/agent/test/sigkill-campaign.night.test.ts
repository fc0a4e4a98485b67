/** A search for the night: SIGKILLs of hosts and agents by chance, on each type of disk; `sigkill-campaign.test.ts` has a few. */
import { afterEach, expect, test } from '@jest/globals';
import { AgentCluster, type DiskType } from './agents.js';
import { SigkillCampaign } from './sigkill-campaign.js';

/** Number of kills; each night has 1,000. `node tools/sigkill-campaign.mjs --kills 10000 --disks block --seed 7` sets these variables. */
const KILLS = Number(process.env.HOLDFAST_KILLS ?? 24);
const SEED = Number(process.env.HOLDFAST_SEED ?? 1);
const DISKS = process.env.HOLDFAST_DISKS ?? 'both';

let cluster: AgentCluster;
afterEach(() => cluster.stop());

test.each(killsByDisks())(
  '$kills SIGKILLs of hosts and agents with copies on $disks disks lose nothing that was flushed',
  async ({ disks, kills }) => {
    cluster = new AgentCluster({}, disks === 'block');
    await cluster.start(4);
    const campaign = await SigkillCampaign.create(SEED, cluster, disks);
    await campaign.run(kills);
    console.log(`${disks} disks, seed ${SEED}: ${JSON.stringify(campaign.done)}`);
    expect(campaign.kills).toBeGreaterThanOrEqual(kills);
  },
);

/** Kills on each type of disk: all on one, or half on each. */
function killsByDisks(): { disks: DiskType; kills: number }[] {
  const kinds: readonly DiskType[] = ['filesystem', 'block'];
  const chosen = kinds.filter((kind) => DISKS === 'both' || DISKS === kind);
  return chosen.map((disks) => ({ disks, kills: Math.ceil(KILLS / chosen.length) }));
}
