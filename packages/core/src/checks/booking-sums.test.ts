import { asId, type DiskId } from '@holdfast/core/model/ids.js';
import { describe, expect, test } from '@jest/globals';
import { checkBookedSums } from './booking-sums.js';

const id = asId<DiskId>('d');
const disk = (storageScheduledBytes: number) => ({ id, name: 'disk-1', storageScheduledBytes });

describe('checkBookedSums', () => {
  test.each([
    { name: 'sums that are equal', booked: 30, replicas: [10, 20], want: [] },
    {
      name: 'a booking that no replica has',
      booked: 30,
      replicas: [10],
      want: [/has booked 30 bytes, its replicas have 10/],
    },
    {
      name: 'a replica that is not booked',
      booked: 0,
      replicas: [10],
      want: [/has booked 0 bytes, its replicas have 10/],
    },
  ])('finds nothing but what is wrong in $name', ({ booked, replicas, want }) => {
    const found = checkBookedSums(
      [disk(booked)],
      replicas.map((sizeBytes) => ({ diskId: id, sizeBytes })),
    );
    expect(found).toEqual(want.map((text) => expect.stringMatching(text)));
  });
});
