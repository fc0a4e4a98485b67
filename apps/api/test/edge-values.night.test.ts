/**
 * A search for the night: each field of each request at its bounds, beyond them, and at those of what stores it. `edge-values.test.ts` has a
 * slice of them.
 */
import { declareEdgeValues } from './declare-edge-values.js';

declareEdgeValues({ every: 1 });
