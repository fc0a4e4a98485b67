import { expect, test } from '@jest/globals';
import type { ClusterEvent } from '../api/types';
import { foldEvents } from './fold-events';

/** Newest first: `type@second`. */
function events(...texts: string[]): ClusterEvent[] {
  return texts.map((text, index) => {
    const [type = '', second = '0'] = text.split('@');
    const at = new Date(Date.UTC(2026, 0, 1) + Number(second) * 1000).toISOString();
    const subject = { kind: 'volume', id: 'x' };
    return {
      id: `${index}`,
      clusterId: 'c',
      type,
      severity: 'info',
      subject,
      volumeId: null,
      message: text,
      at,
    };
  });
}

function folded(...texts: string[]): string[] {
  return foldEvents(events(...texts)).map(({ event, under }) => `${event.message}+${under.length}`);
}

test('changes of volumes stand under the node that fell silent just before', () => {
  expect(folded('VolumeDegraded@12', 'VolumeUnknown@11', 'NodeNotReady@10', 'VolumeHealthy@1')).toEqual([
    'NodeNotReady@10+2',
    'VolumeHealthy@1+0',
  ]);
});

test('of two causes the later one takes what follows it', () => {
  expect(folded('VolumeHealthy@31', 'NodeReady@30', 'VolumeUnknown@11', 'NodeNotReady@10')).toEqual([
    'NodeReady@30+1',
    'NodeNotReady@10+1',
  ]);
});

test('what comes a minute later, or is no such change, stands for itself', () => {
  expect(folded('VolumeDegraded@80', 'VolumeCreated@11', 'NodeNotReady@10')).toEqual([
    'VolumeDegraded@80+0',
    'VolumeCreated@11+0',
    'NodeNotReady@10+0',
  ]);
});

test('four of one type in a row are one line, three are three', () => {
  expect(folded('VolumeCreated@4', 'VolumeCreated@3', 'VolumeCreated@2', 'VolumeCreated@1')).toEqual([
    'VolumeCreated@4+3',
  ]);
  expect(folded('VolumeCreated@3', 'VolumeCreated@2', 'VolumeCreated@1')).toHaveLength(3);
});
