import Foundation

/// One line from the oracle: `{"type":"stream","method":"status","payload":{…},"request_id":…}`.
///
/// What the payload's data is depends on the payload's type and on the tool, so a line is decoded twice: as
/// `StatusFrame<Named>` to learn these two, and then as what they say it is.
public struct StatusFrame<Content: Decodable>: Decodable {
    public let type: String
    public let method: String
    public let payload: Payload
    public let requestID: String?

    public struct Payload: Decodable {
        public let type: String
        public let data: Content
        public let timestamp: String
        public let uuid: String
    }

    enum CodingKeys: String, CodingKey {
        case type, method, payload
        case requestID = "request_id"
    }

    public init(from decoder: any Decoder) throws {
        let frame = try decoder.container(keyedBy: CodingKeys.self)
        type = try frame.decode(String.self, forKey: .type)
        method = try frame.decode(String.self, forKey: .method)
        payload = try frame.decode(Payload.self, forKey: .payload)
        requestID = try frame.decodeIfPresent(String.self, forKey: .requestID)
    }

    /// Decodes one line, with or without its line end.
    public init(line: String) throws {
        self = try JSONDecoder().decode(Self.self, from: Data(line.utf8))
    }
}

/// The data of any payload, as far as it tells which tool it is about.
public struct Named: Decodable {
    public let name: String?
}

/// The data of `tool_starting`; `args` is the JSON text that the model wrote.
public struct ToolStarting: Decodable {
    public let name: String
    public let args: String
}

/// The data of `tool_completed`; `Structure` is what the tool's result is where the tool is structural.
public struct ToolCompleted<Structure: Decodable>: Decodable {
    public let name: String
    public let executionTime: Double
    public let result: ToolResult<Structure>

    enum CodingKeys: String, CodingKey {
        case name, result
        case executionTime = "execution_time"
    }
}

/// A result on the wire: an object from a structural tool, a text from every other.
public enum ToolResult<Structure: Decodable>: Decodable {
    case structure(Structure)
    case echo(String)

    public init(from decoder: any Decoder) throws {
        if let text = try? decoder.singleValueContainer().decode(String.self) {
            self = .echo(text)
        } else {
            self = .structure(try Structure(from: decoder))
        }
    }
}

/// An object that this mirror has no struct for yet: it decodes, and nothing of it is read.
public struct Unread: Decodable {
    public init(from _: any Decoder) {}
}
