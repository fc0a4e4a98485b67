'use client';
import { Message } from '@holdfast/ui/message.js';
import { AddClusterButton } from '../shared/add-cluster';
import { AccountMenu } from './account-menu';
import { OrganizationSwitch } from './organization-switch';

/** An organization without a cluster: nothing can be shown of it yet, but there are ways on. */
export function NoCluster() {
  return (
    <main className="mx-auto w-full max-w-xl px-4 py-10">
      <title>No cluster · Holdfast</title>
      <Message
        title="This organization has no cluster yet"
        body="A cluster is a group of nodes that hold volumes. Make one, then add its nodes."
        action={
          <div className="flex flex-col items-center gap-2">
            <AddClusterButton />
            <OrganizationSwitch />
            <AccountMenu />
          </div>
        }
      />
    </main>
  );
}
