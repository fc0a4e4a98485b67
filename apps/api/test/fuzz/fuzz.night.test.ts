/** A search for the night: requests by chance, by another seed than those of `fuzz.test.ts`. */
import { declareFuzz } from './declare-fuzz.js';

declareFuzz({ requests: 8_000, seed: 2 });
