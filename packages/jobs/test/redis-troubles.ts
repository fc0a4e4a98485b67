/** A Redis that answers, and takes no writes. */
import fs from 'node:fs';
import path from 'node:path';
import { eventually } from '@holdfast/testkit/eventually.js';
import type { RedisServer } from '@holdfast/testkit/redis-server.js';

type RedisTrouble = {
  readonly begin: (redis: RedisServer) => Promise<void>;
  readonly end: (redis: RedisServer) => Promise<void>;
};

/** Ways in which Redis refuses writes, and accepts them again. */
export const REDIS_TROUBLES: Readonly<Record<string, RedisTrouble>> = {
  OOM: {
    begin: (redis) => told(redis, 'CONFIG SET maxmemory 1'),
    end: (redis) => told(redis, 'CONFIG SET maxmemory 0'),
  },
  MISCONF: {
    async begin(redis) {
      // A folder stands where its snapshot would be renamed to.
      fs.mkdirSync(path.join(redis.directory, 'dump.rdb', 'taken'), { recursive: true });
      await told(redis, 'CONFIG SET save "3600 1"');
      await redis.tell('BGSAVE');
      await eventually(
        'the snapshot fails',
        () => redis.tell('INFO persistence'),
        (info) => info.includes('rdb_last_bgsave_status:err'),
      );
    },
    async end(redis) {
      fs.rmSync(path.join(redis.directory, 'dump.rdb'), { recursive: true });
      await redis.tell('BGSAVE');
      await eventually(
        'the snapshot is made',
        () => redis.tell('INFO persistence'),
        (info) => info.includes('rdb_last_bgsave_status:ok'),
      );
    },
  },
};

async function told(redis: RedisServer, command: string): Promise<void> {
  const answer = await redis.tell(command);
  if (answer !== '+OK\r\n') throw new Error(`Redis answered ${answer}`);
}
