import type { Context } from '../context.js';
import { findNamed } from '../find-named.js';
import type { Project } from '../types.js';

/** @throws CliError when there is no project of that name or id */
export function findProject(context: Context, nameOrId: string): Promise<Project> {
  return findNamed(nameOrId, {
    kind: 'project',
    byId: (projectId) => context.api.GET('/projects/{projectId}', { params: { path: { projectId } } }),
    byFilter: (query) => context.api.GET('/projects', { params: { query } }),
  });
}
