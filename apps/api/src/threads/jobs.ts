/** Jobs for threads: pure functions of core that may take seconds. What goes in and out is plain data, which threads copy. */

import { planDrain } from '@holdfast/core/drain/plan-drain.js';
import { answerWhatIf } from '@holdfast/core/forecast/answer-what-if.js';
import { explainVolume } from '../volumes/explain-volume.js';

export const JOBS = { answerWhatIf, planDrain, explainVolume };

export type JobName = keyof typeof JOBS;
export type JobInput<Name extends JobName> = Parameters<(typeof JOBS)[Name]>;
export type JobOutput<Name extends JobName> = ReturnType<(typeof JOBS)[Name]>;
