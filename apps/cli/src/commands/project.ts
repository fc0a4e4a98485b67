import { Command } from 'commander';
import { bodyOf, doneOf, itemsOf } from '../api.js';
import { Context, print, printLine } from '../context.js';
import { formatItem, formatList } from '../output/format.js';
import { age } from '../output/quantities.js';
import type { Column } from '../output/table.js';
import type { Project, ProjectMember } from '../types.js';
import { findMember } from './find-member.js';
import { findProject } from './find-project.js';

const PROJECT = '/projects/{projectId}';
const MEMBER = '/projects/{projectId}/members/{userId}';

function columns(now: Date): Column<Project>[] {
  return [
    { header: 'name', cell: ({ name }) => name },
    { header: 'id', cell: ({ id }) => id },
    { header: 'age', cell: ({ createdAt }) => age(createdAt, now), align: 'right' },
  ];
}

const MEMBER_COLUMNS: Column<ProjectMember>[] = [
  { header: 'email', cell: ({ email }) => email },
  { header: 'role', cell: ({ role }) => role },
  { header: 'name', cell: ({ name }) => name },
  { header: 'user id', cell: ({ userId }) => userId, wide: true },
];

export function projectCommand(): Command {
  const project = new Command('project');
  project
    .command('list')
    .description('all projects')
    .action(async (_options: object, command: Command) => {
      const context = new Context(command);
      const found = await itemsOf((query) => context.api.GET('/projects', { params: { query } }));
      print(formatList(found, columns(context.now), context.output));
    });
  project
    .command('create')
    .argument('<name>')
    .description('create a project')
    .action(async (name: string, _options: object, command: Command) => {
      const context = new Context(command);
      const created = await bodyOf(context.api.POST('/projects', { body: { name } }));
      printLine(context, created, `${created.name}: created, ${created.id}`);
    });
  project
    .command('rename')
    .argument('<project>', 'name or id')
    .argument('<name>', 'the new one')
    .description('rename a project')
    .action(async (nameOrId: string, name: string, _options: object, command: Command) => {
      const context = new Context(command);
      const path = { projectId: (await findProject(context, nameOrId)).id };
      const renamed = await bodyOf(context.api.PATCH(PROJECT, { params: { path }, body: { name } }));
      printLine(context, renamed, `${renamed.name}: renamed`);
    });
  project
    .command('delete')
    .argument('<project>', 'name or id')
    .description('delete a project that holds no volumes')
    .action(async (nameOrId: string, _options: object, command: Command) => {
      const context = new Context(command);
      const found = await findProject(context, nameOrId);
      await context.confirm(`This deletes project ${found.name}`);
      await doneOf(context.api.DELETE(PROJECT, { params: { path: { projectId: found.id } } }));
      print(formatItem(found, () => `${found.name}: is gone`, context.output));
    });
  addMemberCommands(project);
  return project;
}

function addMemberCommands(project: Command): void {
  project
    .command('members')
    .argument('<project>', 'name or id')
    .description('who has a role in the project')
    .action(async (nameOrId: string, _options: object, command: Command) => {
      const context = new Context(command);
      const path = { projectId: (await findProject(context, nameOrId)).id };
      const found = await itemsOf((query) =>
        context.api.GET(`${PROJECT}/members`, { params: { path, query } }),
      );
      print(formatList(found, MEMBER_COLUMNS, context.output));
    });
  project
    .command('grant')
    .argument('<project>', 'name or id')
    .argument('<member>', 'e-mail address or id')
    .argument('<role>', 'viewer, operator or admin')
    .description('give a member of the organization a role in the project')
    .action(async (nameOrId: string, member: string, role: string, _options: object, command: Command) => {
      const context = new Context(command);
      const path = await memberPath(context, nameOrId, member);
      // The API knows which roles there are, and says so.
      const body = { role: role as ProjectMember['role'] };
      const given = await bodyOf(context.api.PUT(MEMBER, { params: { path }, body }));
      print(formatItem(given, () => `${given.email}: ${given.role}`, context.output));
    });
  project
    .command('revoke')
    .argument('<project>', 'name or id')
    .argument('<member>', 'e-mail address or id')
    .description("remove a member's role in the project")
    .action(async (nameOrId: string, member: string, _options: object, command: Command) => {
      const context = new Context(command);
      const path = await memberPath(context, nameOrId, member);
      await doneOf(context.api.DELETE(MEMBER, { params: { path } }));
      print(formatItem(path, () => `${member}: has no role in ${nameOrId} any more`, context.output));
    });
}

async function memberPath(context: Context, project: string, member: string) {
  const { id: projectId } = await findProject(context, project);
  const { userId } = await findMember(context, member);
  return { projectId, userId };
}
