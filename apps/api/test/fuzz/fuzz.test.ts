/** A slice of the requests by chance; `fuzz.night.test.ts` sends more. `HOLDFAST_FUZZ_REQUESTS` and `HOLDFAST_FUZZ_SEED` say how many and which. */
import { declareFuzz } from './declare-fuzz.js';

declareFuzz({
  requests: Number(process.env.HOLDFAST_FUZZ_REQUESTS ?? 300),
  seed: Number(process.env.HOLDFAST_FUZZ_SEED ?? 1),
});
