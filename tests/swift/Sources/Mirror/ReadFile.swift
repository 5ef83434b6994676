import Foundation

/// What `read_file` gives: the text of the lines asked for, or why there is none.
public struct ReadFileResult: Decodable {
    public let content: String?
    public let error: String?
}

/// What `read_file` was asked for.
public struct ReadFileArgs: Decodable {
    public let path: String?
    public let range: [Int]?

    /// Decodes the JSON text of a `tool_starting` frame.
    public init(json: String) throws {
        self = try JSONDecoder().decode(Self.self, from: Data(json.utf8))
    }

    /// The file's name without its folders; empty where there is no path.
    public var fileName: String {
        NSString(string: path ?? "").lastPathComponent
    }
}
