/** A few SIGKILLs of hosts and agents, where `sigkill-campaign.long.test.ts` has many on each type of disk. */
import { afterEach, expect, test } from '@jest/globals';
import { AgentCluster } from './agents.js';
import { SigkillCampaign } from './sigkill-campaign.js';

const KILLS = 4;
const SEED = 1;
/** Ends what hangs: four kills take some seconds. */
const TIMEOUT_MS = 180_000;

let cluster: AgentCluster;
afterEach(() => cluster.stop(), TIMEOUT_MS);

test(
  `${KILLS} SIGKILLs of hosts and agents lose nothing that was flushed`,
  async () => {
    cluster = new AgentCluster({}, false);
    await cluster.start(4);
    const campaign = await SigkillCampaign.create(SEED, cluster, 'filesystem');
    await campaign.run(KILLS);
    expect(campaign.kills).toBeGreaterThanOrEqual(KILLS);
  },
  TIMEOUT_MS,
);
