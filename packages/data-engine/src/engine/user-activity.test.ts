import { expect, test } from '@jest/globals';
import { UserActivity } from './user-activity.js';

// Polls are 100 ms apart; each row lists the requests between them and the result of each.
test.each([
  { name: 'no user', requests: [0, 0, 0], seen: [false, false, false] },
  { name: 'a request now and then', requests: [4, 4, 4], seen: [false, false, false] },
  { name: 'work', requests: [5, 0], seen: [true, true] },
  {
    name: 'a burst that has ended a second ago',
    requests: [50, ...Array(10).fill(0)],
    seen: [...Array(10).fill(true), false],
  },
])('users are seen at work or not: $name', ({ requests, seen }) => {
  let count = 1000;
  const activity = new UserActivity(() => count);
  const looks = requests.map((more, index) => {
    count += more;
    return activity.look(index * 100);
  });
  expect(looks).toEqual(seen);
});
