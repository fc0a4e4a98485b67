/**
 * A gate for new tokens: a trigger holds each one where a test wants it, before its row is there or before its transaction commits.
 */
import { eventually } from '@holdfast/testkit/eventually.js';
import pg from 'pg';

/** Which lock the trigger waits for. */
const GATE = 4711;

export class TokenGate {
  private constructor(private readonly owner: pg.Client) {}

  static async build(ownerUrl: string): Promise<TokenGate> {
    const owner = new pg.Client({ connectionString: ownerUrl });
    await owner.connect();
    await owner.query(
      `CREATE FUNCTION pass_gate() RETURNS trigger LANGUAGE plpgsql
       AS $$ BEGIN PERFORM pg_advisory_xact_lock(${GATE}); RETURN NEW; END $$`,
    );
    return new TokenGate(owner);
  }

  /** Begins what makes a token, and has `meanwhile` begin while it is held. Both have ended when this returns. */
  async during<Held, Other>(
    moment: 'BEFORE' | 'AFTER',
    begin: () => Promise<Held>,
    meanwhile: () => Promise<Other>,
  ): Promise<[Held, Other]> {
    await this.owner.query(
      `CREATE TRIGGER zz_gate ${moment} INSERT ON token FOR EACH ROW EXECUTE FUNCTION pass_gate()`,
    );
    await this.owner.query('SELECT pg_advisory_lock($1)', [GATE]);
    const held = begin();
    await this.somethingWaitsFor('advisory');
    const other = meanwhile();
    // Before its row is there nothing keeps the other from ending; behind it the other waits for its commit.
    if (moment === 'BEFORE') await other;
    else await this.somethingWaitsFor('tuple', 'transactionid');
    await this.owner.query('SELECT pg_advisory_unlock($1)', [GATE]);
    return Promise.all([held, other]);
  }

  /** Also after a test that failed while the gate was shut. */
  async open(): Promise<void> {
    await this.owner.query('SELECT pg_advisory_unlock_all()');
    await this.owner.query('DROP TRIGGER IF EXISTS zz_gate ON token');
  }

  end(): Promise<void> {
    return this.owner.end();
  }

  private somethingWaitsFor(...kinds: string[]): Promise<number> {
    const sql = 'SELECT FROM pg_locks WHERE NOT granted AND locktype = ANY ($1)';
    const count = async () => (await this.owner.query(sql, [kinds])).rowCount ?? 0;
    return eventually(`a lock of ${kinds} is waited for`, count, (waiting) => waiting > 0);
  }
}
