import { queryUnscoped } from '@holdfast/database/sql/scope.js';
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
    await queryUnscoped(this.databases.signIn, 'SELECT FROM cluster LIMIT 0', []);
    await queryUnscoped(this.databases.system().pool, 'SELECT FROM cluster LIMIT 0', []);
    return { status: 'ready' };
  }
}
