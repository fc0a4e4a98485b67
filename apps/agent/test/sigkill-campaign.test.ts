import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { AgentCluster } from './agents.js';
import { SigkillCampaign } from './sigkill-campaign.js';

/** `node tools/sigkill-campaign.mjs --kills 10000 --seed 7` sets these. */
const KILLS = Number(process.env.HOLDFAST_KILLS ?? 200);
const SEED = Number(process.env.HOLDFAST_SEED ?? 1);
/** Far above the about one second that a kill with its proof takes. */
const KILL_MAX_MS = 20_000;

const cluster = new AgentCluster();
beforeAll(() => cluster.start(3), 60_000);
afterAll(() => cluster.stop(), 60_000);

test(
  `${KILLS} SIGKILLs of hosts and agents under load lose nothing that was flushed (seed ${SEED})`,
  async () => {
    const campaign = await SigkillCampaign.create(SEED, cluster);
    await campaign.run(KILLS);
    console.log(`kills: ${JSON.stringify(Object.fromEntries(campaign.killsByTarget))}`);
    expect(campaign.kills).toBeGreaterThanOrEqual(KILLS);
  },
  60_000 + KILLS * KILL_MAX_MS,
);
