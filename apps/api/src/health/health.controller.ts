import { transaction } from '@holdfast/database/sql/scope.js';
import { Controller, Get } from '@nestjs/common';
import { Databases } from '../platform/databases.js';
import { Route } from '../platform/route.decorator.js';

@Controller()
export class HealthController {
  constructor(private readonly databases: Databases) {}

  /** The process runs. */
  @Get('livez')
  @Route({ access: 'public', summary: 'Alive' })
  alive() {
    return { status: 'alive' };
  }

  /** The process can answer requests: both ways into the database work, and the tables are there. */
  @Get('readyz')
  @Route({ access: 'public', summary: 'Ready' })
  async ready() {
    await transaction(this.databases.nobody(), (sql) => sql.query('SELECT FROM cluster LIMIT 0'));
    await transaction(this.databases.system(), (sql) => sql.query('SELECT FROM cluster LIMIT 0'));
    return { status: 'ready' };
  }
}
