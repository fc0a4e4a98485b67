/** Question of a tab of the organization to the API, for copying. */
import { paths } from '../paths';
import type { Question } from '../shared/copy-forms';

type TabQuestion = { readonly question: Question; readonly isList: boolean };

const LISTS: Readonly<Record<string, string>> = {
  [paths.organization]: '/members',
  [paths.projects]: '/projects',
  [paths.serviceAccounts]: '/service-accounts',
  [paths.tokens]: '/tokens',
  [paths.sessions]: '/sessions',
  [paths.grants]: '/clusters/{clusterId}/grants',
  [paths.webhooks]: '/webhooks',
};

/** @param pathname of the page; @returns `undefined` for a page that asks nothing of its own */
export function tabQuestion(pathname: string, organizationId: string): TabQuestion | undefined {
  const list = LISTS[pathname];
  if (list !== undefined) return { question: { path: list }, isList: true };
  const own = `/organizations/${organizationId}`;
  if (pathname === paths.quotas) return one(`${own}/quota`);
  if (pathname === paths.signInProvider) return one(`${own}/sign-in-provider`);
  if (pathname === paths.permissions) return one('/me/permissions');
  const [, kind, id] = /^\/organization\/(projects|webhooks)\/([^/]+)$/.exec(pathname) ?? [];
  return kind === undefined || id === undefined ? undefined : one(`/${kind}/${id}`);
}

function one(path: string): TabQuestion {
  return { question: { path }, isList: false };
}
