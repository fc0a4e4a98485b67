// Stretches the limits that tests and hooks have of their own, as jest.config.mjs stretches the common one: the machine may be slower
// than where they were chosen.
import { TestEnvironment } from 'jest-environment-node';

export default class PatientEnvironment extends TestEnvironment {
  /** When all tests of a suite are known and none has begun. */
  async handleTestEvent(event, state) {
    if (event.name === 'run_start') {
      stretch(state.rootDescribeBlock, Number(process.env.HOLDFAST_TEST_SLOWNESS));
    }
  }
}

function stretch(block, times) {
  for (const hook of block.hooks) hook.timeout &&= hook.timeout * times;
  for (const child of block.children) {
    if (child.type === 'describeBlock') stretch(child, times);
    else child.timeout &&= child.timeout * times;
  }
}
