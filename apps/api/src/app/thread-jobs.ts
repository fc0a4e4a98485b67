/** Jobs for threads: pure functions that may take seconds. */
import { planDrain } from '@holdfast/core/drain/plan-drain.js';
import { answerWhatIf } from '@holdfast/core/forecast/answer-what-if.js';
import type { Jobs } from '../resources/threads/thread-pool.js';
import { explainVolume } from '../resources/volumes/explain-volume.js';

export const JOBS: Jobs = { answerWhatIf, planDrain, explainVolume };
