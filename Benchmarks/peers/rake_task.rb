# The nightly job that renewald replaces, as a Rails application has it in a rake task: HTTParty asks about
# one subscription after the other, and pg writes what came. With "threads" in the job that many ask at
# once, each over a connection of its own that stays open, so that it is no straw man.
#
# Reads the job as JSON from standard input: see beside.py.
require "cgi"
require "httparty"
require "json"
require "net/http"
require "openssl"
require "pg"
require "time"

JOB = JSON.parse($stdin.read)
SCOPE = "https://www.googleapis.com/auth/androidpublisher"

def encoded(data) = [data].pack("m0").tr("+/", "-_").delete("=")

def access_token
  account = JSON.parse(File.read(JOB["service_account"]))
  now = Time.now.to_i
  claims = { iss: account["client_email"], aud: account["token_uri"], iat: now, exp: now + 3600, scope: SCOPE }
  text = [{ alg: "RS256", typ: "JWT" }, claims].map { encoded(_1.to_json) }.join(".")
  signature = OpenSSL::PKey::RSA.new(account["private_key"]).sign("SHA256", text)
  answer = HTTParty.post(
    account["token_uri"], ssl_ca_file: JOB["ca"], body: {
      grant_type: "urn:ietf:params:oauth:grant-type:jwt-bearer", assertion: "#{text}.#{encoded(signature)}"
    }
  )
  answer.parsed_response["access_token"]
end

def path(row)
  "/androidpublisher/v3/applications/#{JOB["app"]}/purchases/subscriptionsv2/tokens/#{CGI.escape(row["token"])}"
end

def store(connection, row, answer)
  expires = Time.parse(answer["lineItems"].first["expiryTime"])
  connection.exec_params(
    "UPDATE subscriptions SET active = $1, expires_at = $2, checked_at = now() WHERE id = $3",
    [expires > Time.now, expires, row["id"]]
  )
end

# One after the other, a connection for each call.
def check_in_turn(rows, headers)
  connection = PG.connect(JOB["database"])
  rows.each do |row|
    answer = HTTParty.get(JOB["origin"] + path(row), headers: headers, ssl_ca_file: JOB["ca"])
    raise "status #{answer.code}" unless answer.code == 200

    store(connection, row, answer.parsed_response)
  rescue StandardError
    next # The next night tries again.
  end
end

def check_with_threads(rows, headers)
  origin = URI(JOB["origin"])
  waiting = Queue.new
  rows.each { waiting << _1 }
  waiting.close
  Array.new(JOB["threads"]) do
    Thread.new do
      connection = PG.connect(JOB["database"])
      Net::HTTP.start(origin.host, origin.port, use_ssl: true, ca_file: JOB["ca"]) do |http|
        while (row = waiting.pop)
          answer = http.get(path(row), headers)
          raise "status #{answer.code}" unless answer.code == "200"

          store(connection, row, JSON.parse(answer.body))
        end
      end
    end
  end.each(&:join)
end

rows = PG.connect(JOB["database"]).exec(
  "SELECT id, token FROM subscriptions ORDER BY id LIMIT #{Integer(JOB["count"])}"
).to_a
headers = { "Authorization" => "Bearer #{access_token}" }
JOB["threads"] ? check_with_threads(rows, headers) : check_in_turn(rows, headers)
puts File.read("/proc/self/status")
