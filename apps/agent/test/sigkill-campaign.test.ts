/** A few SIGKILLs of hosts and agents, where `sigkill-campaign.night.test.ts` has many on each type of disk. */
import { afterEach, expect, test } from '@jest/globals';
import { AgentCluster } from './agents.js';
import { SigkillCampaign } from './sigkill-campaign.js';

const KILLS = 4;
const SEED = 1;

let cluster: AgentCluster;
afterEach(() => cluster.stop());

test(`${KILLS} SIGKILLs of hosts and agents lose nothing that was flushed`, async () => {
  cluster = new AgentCluster({}, false);
  await cluster.start(4);
  const campaign = await SigkillCampaign.create(SEED, cluster, 'filesystem');
  await campaign.run(KILLS);
  expect(campaign.kills).toBeGreaterThanOrEqual(KILLS);
});
