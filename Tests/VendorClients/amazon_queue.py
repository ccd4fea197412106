"""Amazon's notifications in a queue of SQS: boto3 asks the simulator and moto's server the same."""

import contextlib
import json
import subprocess
import sys

import boto3
import botocore.config
import botocore.exceptions

REGION = "eu-west-1"


class AmazonQueue:
    def __init__(self, simulator, count):
        self.simulator, self.count = simulator, count

    def run(self):
        told = self.simulator.told
        secret = self.simulator.read("amazon-sqs.key").decode()
        self.count.client = "boto3, SQS"
        ours = self.client(told["amazon_sqs_queue"], told["amazon_sqs_access_key_id"], secret)
        purchase = self.simulator.buy("amazon")
        self.simulator.control("POST", f"/purchases/{purchase['id']}/refund")
        mine = self.notifications(ours, told["amazon_sqs_queue"], purchase)
        types = {news["notificationType"] for news in mine}
        self.count.case("types", types, {"SUBSCRIPTION_PURCHASED", "SUBSCRIPTION_CANCELLED"})
        self.count.case("app", {news["appPackageName"] for news in mine}, {self.simulator.app})
        self.refusals(told, secret)
        with moto() as address:
            self.compare(ours, told["amazon_sqs_queue"], address)

    def client(self, queue, key, secret, service="sqs"):
        host = "/".join(queue.split("/")[:3])
        client = boto3.client(
            service,
            endpoint_url=host,
            region_name=REGION,
            aws_access_key_id=key,
            aws_secret_access_key=secret,
            verify=self.simulator.told["tls_ca"] if host.startswith("https") else None,
            config=botocore.config.Config(retries={"max_attempts": 0}),
        )
        client.meta.events.register("before-send.*", lambda **_: self.count.call())
        return client

    def notifications(self, client, queue, purchase):
        """All that there are, each deleted once it is read; those of one purchase."""
        found = []
        while messages := self.receive(client, queue).get("Messages"):
            entries = [
                {"Id": str(number), "ReceiptHandle": message["ReceiptHandle"]}
                for number, message in enumerate(messages)
            ]
            reply = client.delete_message_batch(QueueUrl=queue, Entries=entries)
            self.count.case("deleted", len(reply["Successful"]), len(messages))
            for message in messages:
                envelope = json.loads(message["Body"])
                self.count.case("envelope", envelope["Type"], "Notification")
                found.append(json.loads(envelope["Message"]))
        return [news for news in found if news["receiptId"] == purchase["token"]]

    def receive(self, client, queue):
        return client.receive_message(QueueUrl=queue, MaxNumberOfMessages=10)

    def refusals(self, told, secret):
        queue, key = told["amazon_sqs_queue"], told["amazon_sqs_access_key_id"]
        wrong = [
            ("wrong secret", self.client(queue, key, "x" * 40), queue, "SignatureDoesNotMatch"),
            ("wrong key", self.client(queue, "AKIANOBODY", secret), queue, "InvalidClientTokenId"),
        ]
        for what, client, url, code in wrong:
            self.count.case(what, self.error(client, url), code)

    def error(self, client, queue):
        try:
            self.receive(client, queue)
            return None
        except botocore.exceptions.ClientError as error:
            return error.response["Error"]["Code"].split("#")[-1]

    def compare(self, ours, our_queue, address):
        """What both say of the same."""
        self.count.client = "boto3, SQS and moto"
        sqs = self.client(address, "AKIAMOTO", "secret")
        sns = self.client(address, "AKIAMOTO", "secret", "sns")
        their_queue = sqs.create_queue(QueueName="renewald")["QueueUrl"]
        topic = sns.create_topic(Name="amazon")["TopicArn"]
        attributes = sqs.get_queue_attributes(QueueUrl=their_queue, AttributeNames=["QueueArn"])
        sns.subscribe(
            TopicArn=topic, Protocol="sqs", Endpoint=attributes["Attributes"]["QueueArn"]
        )
        purchase = self.simulator.buy("amazon")
        sns.publish(TopicArn=topic, Message=json.dumps({"receiptId": purchase["token"]}))
        both = [(ours, our_queue), (sqs, their_queue)]
        waiting = [
            client.get_queue_attributes(
                QueueUrl=queue, AttributeNames=["ApproximateNumberOfMessages"]
            )["Attributes"]["ApproximateNumberOfMessages"]
            for client, queue in both
        ]
        self.count.case("waiting", waiting[0], waiting[1])
        mine, theirs = (self.receive(client, queue)["Messages"][0] for client, queue in both)
        self.count.case("fields of a message", set(mine) - set(theirs), set())
        bodies = [json.loads(message["Body"]) for message in (mine, theirs)]
        self.count.case("fields of an envelope", set(bodies[0]) - set(bodies[1]), set())
        self.count.case("type of an envelope", bodies[0]["Type"], bodies[1]["Type"])
        for what, handles in {
            "its own": [message["ReceiptHandle"] for message in (mine, theirs)],
            "a wrong one": ["nonsense", "nonsense"],
        }.items():
            replies = [
                client.delete_message_batch(
                    QueueUrl=queue, Entries=[{"Id": "0", "ReceiptHandle": handle}]
                )
                for (client, queue), handle in zip(both, handles)
            ]
            told = [
                ([one["Id"] for one in reply.get("Successful", [])],
                 [(one["Id"], one["SenderFault"]) for one in reply.get("Failed", [])])
                for reply in replies
            ]
            self.count.case(f"deleting {what}", told[0], told[1])
        empty = [self.receive(client, queue).get("Messages") for client, queue in both]
        self.count.case("an empty queue", empty[0], empty[1])
        missing = [self.error(client, queue + "x") for client, queue in both]
        self.count.case("no such queue", missing[0], missing[1])


@contextlib.contextmanager
def moto():
    """A server of moto, at a port that it finds; it names it once it listens."""
    server = subprocess.Popen(
        [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", "0"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        place = "Running on "
        line = next((line for line in server.stderr if place in line), None)
        if line is None:
            sys.exit("conformance: moto's server does not start")
        yield line.split(place)[1].strip()
    finally:
        server.terminate()
        server.wait()
