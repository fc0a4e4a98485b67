/** A slice of the values at edges; `edge-values.night.test.ts` sends all. `HOLDFAST_EDGES_EVERY` says how small a slice. */
import { declareEdgeValues } from './declare-edge-values.js';

declareEdgeValues({ every: Number(process.env.HOLDFAST_EDGES_EVERY ?? 17) });
