/** Schemas of labels: as objects have them, and as requests change them. */
import { LABEL_KEY, LABEL_VALUE, LABELS_MAX } from '@holdfast/core/model/labels.js';
import { z } from 'zod';

const key = z.string().regex(LABEL_KEY, 'must be the key of a label, such as team or example.com/team');
const value = z.string().regex(LABEL_VALUE, 'must be at most 63 letters, digits, -, _ and ., or empty');

export const labelsSchema = z
  .record(z.string(), z.string())
  .describe(
    'Values by key, by which users find objects: `filter=labels.team=a`. Placement reads tags instead.',
  );

export const newLabels = z
  .record(key, value)
  .describe(`At most ${LABELS_MAX} values by key, in the syntax of Kubernetes; left out: none.`);

export const labelChanges = z
  .record(key, value.nullable())
  .describe('Labels to set by their keys; null removes one. Others are unchanged.');
