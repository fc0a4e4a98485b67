/** All values at edges: each field of each request at its bounds, beyond them, and at those of what stores it. */
import { declareEdgeValues } from './declare-edge-values.js';

declareEdgeValues({ every: 1 });
