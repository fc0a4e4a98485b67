// @prisma/adapter-pg with what the schema engine needs beyond queries: the catalogue's "char" type and a shadow
// database that is truly another database.
import { randomUUID } from 'node:crypto';
import { PrismaPg } from '@prisma/adapter-pg';
import { ColumnTypeEnum } from '@prisma/driver-adapter-utils';
import pg from 'pg';

/** Postgres's internal one-byte "char", and the padded character type that adapter-pg can read. */
const OID_CHAR = 18;
const OID_BPCHAR = 1042;

/**
 * The parts are passed one by one and never as a connection string: in `pg` the string wins over `database`, so that
 * migrations for the shadow database would run in the real one.
 */
export function adapterFactory(url) {
  // A client that is never connected reads the URL as every other one of ours does.
  const { host, port, user, password, database, ssl } = new pg.Client({ connectionString: url });
  const config = { host, port, user, password, database, ssl };
  const factory = new PrismaPg(config);
  const connect = factory.connect.bind(factory);
  factory.connect = async () => readingChar(await connect());
  factory.connectToShadowDb = () => connectToShadow(config, connect);
  return factory;
}

/** The adapter's own version drops the database while its pool is still connected to it, and leaves it behind. */
async function connectToShadow(config, connect) {
  const main = await connect();
  const database = `prisma_shadow_${randomUUID()}`;
  await main.executeScript(`CREATE DATABASE "${database}"`);
  const shadow = readingChar(await new PrismaPg({ ...config, database }).connect());
  const dispose = shadow.dispose.bind(shadow);
  shadow.dispose = async () => {
    await dispose();
    await main.executeScript(`DROP DATABASE IF EXISTS "${database}" WITH (FORCE)`);
    await main.dispose();
  };
  return shadow;
}

/** Reads "char" columns as bpchar and reports them as Character; reported as Text they make the engine panic. */
function readingChar(adapter) {
  const charColumnsOf = new WeakMap();
  const performIO = adapter.performIO.bind(adapter);
  const queryRaw = adapter.queryRaw.bind(adapter);
  adapter.performIO = async (query) => {
    const result = await performIO(query);
    const charColumns = [];
    for (const [index, field] of (result?.fields ?? []).entries()) {
      if (field.dataTypeID !== OID_CHAR) continue;
      field.dataTypeID = OID_BPCHAR;
      charColumns.push(index);
    }
    charColumnsOf.set(query, charColumns);
    return result;
  };
  adapter.queryRaw = async (query) => {
    const result = await queryRaw(query);
    for (const index of charColumnsOf.get(query) ?? []) result.columnTypes[index] = ColumnTypeEnum.Character;
    return result;
  };
  return adapter;
}
